//! The public point of a private key of an elliptic curve: its multiple of the base point.

use num_bigint::BigUint;

use super::public_key::EllipticCurve;

/// A curve and its base point.
struct CurveNumbers {
    prime: BigUint,
    /// How many points there are.
    order: BigUint,
    base: AffinePoint,
}

struct AffinePoint {
    x: BigUint,
    y: BigUint,
}

/// The point (x/z², y/z³), whose sums need no division.
struct JacobianPoint {
    x: BigUint,
    y: BigUint,
    z: BigUint,
}

/// The point that belongs to a number, not compressed; none where the number is none of a private key.
///
/// It takes longer for some numbers than for others: what is asked here is whose a key is that lies in a file.
// Upstream: crypto/ecdsa/ecdsa.go, ParseRawPrivateKey
pub(super) fn multiply_base_point(curve: EllipticCurve, scalar: &[u8]) -> Option<Vec<u8>> {
    let numbers = CurveNumbers::new(curve)?;
    let scalar = BigUint::from_bytes_be(scalar);
    if scalar == BigUint::ZERO || scalar >= numbers.order {
        return None;
    }
    let mut product = None;
    for bit in (0..scalar.bits()).rev() {
        product = product.map(|point| numbers.double(&point));
        if scalar.bit(bit) {
            product = numbers.add_base(product);
        }
    }
    let AffinePoint { x, y } = numbers.to_affine(&product?)?;
    let mut point = vec![4];
    for coordinate in [x, y] {
        let bytes = coordinate.to_bytes_be();
        point.resize(point.len() + curve.size().saturating_sub(bytes.len()), 0);
        point.extend(bytes);
    }
    Some(point)
}

impl CurveNumbers {
    fn new(curve: EllipticCurve) -> Option<Self> {
        let [prime, order, x, y] =
            hexadecimal(curve).map(|digits| BigUint::parse_bytes(digits.as_bytes(), 16));
        let base = AffinePoint { x: x?, y: y? };
        Some(CurveNumbers {
            prime: prime?,
            order: order?,
            base,
        })
    }

    fn subtract(&self, left: &BigUint, right: &BigUint) -> BigUint {
        (left + &self.prime - right % &self.prime) % &self.prime
    }

    fn multiply(&self, left: &BigUint, right: &BigUint) -> BigUint {
        (left * right) % &self.prime
    }

    fn double(&self, point: &JacobianPoint) -> JacobianPoint {
        let delta = self.multiply(&point.z, &point.z);
        let gamma = self.multiply(&point.y, &point.y);
        let beta = self.multiply(&point.x, &gamma);
        // All curves have -3 as the factor of x.
        let alpha = self.multiply(&(self.subtract(&point.x, &delta) * 3u8), &(&point.x + &delta));
        let x = self.subtract(&self.multiply(&alpha, &alpha), &(&beta * 8u8));
        let y = self.subtract(
            &self.multiply(&alpha, &self.subtract(&(&beta * 4u8), &x)),
            &(self.multiply(&gamma, &gamma) * 8u8),
        );
        let z = self.multiply(&(&point.y * 2u8), &point.z);
        JacobianPoint { x, y, z }
    }

    /// The sum of a point, or of none, and the base point. It is none where they are each other's inverse.
    fn add_base(&self, point: Option<JacobianPoint>) -> Option<JacobianPoint> {
        let Some(point) = point else {
            let AffinePoint { x, y } = &self.base;
            return Some(JacobianPoint {
                x: x.clone(),
                y: y.clone(),
                z: BigUint::from(1u8),
            });
        };
        let square = self.multiply(&point.z, &point.z);
        let cube = self.multiply(&square, &point.z);
        let horizontal = self.subtract(&self.multiply(&self.base.x, &square), &point.x);
        let vertical = self.subtract(&self.multiply(&self.base.y, &cube), &point.y);
        if horizontal == BigUint::ZERO {
            return (vertical == BigUint::ZERO).then(|| self.double(&point));
        }
        let horizontal_square = self.multiply(&horizontal, &horizontal);
        let horizontal_cube = self.multiply(&horizontal_square, &horizontal);
        let middle = self.multiply(&point.x, &horizontal_square);
        let x = self.subtract(
            &self.multiply(&vertical, &vertical),
            &(&horizontal_cube + &middle * 2u8),
        );
        let y = self.subtract(
            &self.multiply(&vertical, &self.subtract(&middle, &x)),
            &self.multiply(&point.y, &horizontal_cube),
        );
        let z = self.multiply(&point.z, &horizontal);
        Some(JacobianPoint { x, y, z })
    }

    fn to_affine(&self, point: &JacobianPoint) -> Option<AffinePoint> {
        let inverse = point.z.modinv(&self.prime)?;
        let square = self.multiply(&inverse, &inverse);
        let cube = self.multiply(&square, &inverse);
        Some(AffinePoint {
            x: self.multiply(&point.x, &square),
            y: self.multiply(&point.y, &cube),
        })
    }
}

/// The prime of a curve, its order, and the coordinates of its base point.
// Upstream: crypto/elliptic/params.go; crypto/internal/fips140/nistec
fn hexadecimal(curve: EllipticCurve) -> [&'static str; 4] {
    match curve {
        EllipticCurve::P224 => [
            "ffffffffffffffffffffffffffffffff000000000000000000000001",
            "ffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3d",
            "b70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21",
            "bd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34",
        ],
        EllipticCurve::P256 => [
            "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
            "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
            "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
            "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
        ],
        EllipticCurve::P384 => [
            "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff",
            "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
            "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
            "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
        ],
        EllipticCurve::P521 => [
            "1ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\
             ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa\
             51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
            "0c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3d\
             baa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
            "11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e66\
             2c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One is the base point itself, and the last number is the inverse of it: the same x.
    #[test]
    fn the_last_number_is_minus_one() {
        for curve in [
            EllipticCurve::P224,
            EllipticCurve::P256,
            EllipticCurve::P384,
            EllipticCurve::P521,
        ] {
            let numbers = CurveNumbers::new(curve).unwrap();
            let first = multiply_base_point(curve, &[1]).unwrap();
            let last = multiply_base_point(curve, &(&numbers.order - 1u8).to_bytes_be()).unwrap();
            let x = 1..=curve.size();
            assert_eq!((first.len(), &first[x.clone()]), (1 + 2 * curve.size(), &last[x]));
            assert_ne!(first, last);
            assert_eq!(multiply_base_point(curve, &numbers.order.to_bytes_be()), None);
            assert_eq!(multiply_base_point(curve, &[0]), None);
        }
    }
}
