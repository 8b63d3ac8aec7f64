//! Whether the point of a key lies on its curve: y² = x³ - 3x + b.

use super::public_key::EllipticCurve;

/// A number below 2⁵⁷⁶, in limbs of 64 bits, the lowest first. The largest prime has 521 bits, so that twice a remainder fits.
type FieldNumber = [u64; 9];

/// The prime of a curve, and its constant.
struct CurveParameters {
    prime: FieldNumber,
    constant: FieldNumber,
}

const P224: CurveParameters = CurveParameters {
    prime: [
        0x0000_0000_0000_0001,
        0xffff_ffff_0000_0000,
        0xffff_ffff_ffff_ffff,
        0x0000_0000_ffff_ffff,
        0,
        0,
        0,
        0,
        0,
    ],
    constant: [
        0x270b_3943_2355_ffb4,
        0x5044_b0b7_d7bf_d8ba,
        0x0c04_b3ab_f541_3256,
        0x0000_0000_b405_0a85,
        0,
        0,
        0,
        0,
        0,
    ],
};

const P256: CurveParameters = CurveParameters {
    prime: [
        0xffff_ffff_ffff_ffff,
        0x0000_0000_ffff_ffff,
        0,
        0xffff_ffff_0000_0001,
        0,
        0,
        0,
        0,
        0,
    ],
    constant: [
        0x3bce_3c3e_27d2_604b,
        0x651d_06b0_cc53_b0f6,
        0xb3eb_bd55_7698_86bc,
        0x5ac6_35d8_aa3a_93e7,
        0,
        0,
        0,
        0,
        0,
    ],
};

const P384: CurveParameters = CurveParameters {
    prime: [
        0x0000_0000_ffff_ffff,
        0xffff_ffff_0000_0000,
        0xffff_ffff_ffff_fffe,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0,
        0,
        0,
    ],
    constant: [
        0x2a85_c8ed_d3ec_2aef,
        0xc656_398d_8a2e_d19d,
        0x0314_088f_5013_875a,
        0x181d_9c6e_fe81_4112,
        0x988e_056b_e3f8_2d19,
        0xb331_2fa7_e23e_e7e4,
        0,
        0,
        0,
    ],
};

const P521: CurveParameters = CurveParameters {
    prime: [
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0x0000_0000_0000_01ff,
    ],
    constant: [
        0xef45_1fd4_6b50_3f00,
        0x3573_df88_3d2c_34f1,
        0x1652_c0bd_3bb1_bf07,
        0x5619_3951_ec7e_937b,
        0xb8b4_8991_8ef1_09e1,
        0xa2da_725b_99b3_15f3,
        0x929a_21a0_b685_40ee,
        0x953e_b961_8e1c_9a1f,
        0x0000_0000_0000_0051,
    ],
};

/// Why a point is none of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointFault {
    /// A coordinate is not below the prime.
    TooLarge,
    NotOnCurve,
}

/// Whether a point lies on a curve, whose coordinates stand one after the other, the highest byte first.
// Upstream: crypto/internal/fips140/nistec/p256.go, p256CheckOnCurve
pub(super) fn check_point(curve: EllipticCurve, coordinates: &[u8]) -> Result<(), PointFault> {
    let CurveParameters { prime, constant } = match curve {
        EllipticCurve::P224 => P224,
        EllipticCurve::P256 => P256,
        EllipticCurve::P384 => P384,
        EllipticCurve::P521 => P521,
    };
    let (x, y) = coordinates.split_at(coordinates.len() / 2);
    let (x, y) = (number(x), number(y));
    if !is_less(&x, &prime) || !is_less(&y, &prime) {
        return Err(PointFault::TooLarge);
    }
    // x³ - 3x + b = (x² - 3)x + b
    let three = subtract(&prime, &[3, 0, 0, 0, 0, 0, 0, 0, 0]);
    let factor = add_modulo(&multiply_modulo(&x, &x, &prime), &three, &prime);
    let right = add_modulo(&multiply_modulo(&factor, &x, &prime), &constant, &prime);
    if multiply_modulo(&y, &y, &prime) == right {
        Ok(())
    } else {
        Err(PointFault::NotOnCurve)
    }
}

fn number(bytes: &[u8]) -> FieldNumber {
    let mut number = FieldNumber::default();
    for (limb, chunk) in number.iter_mut().zip(bytes.rchunks(8)) {
        *limb = chunk.iter().fold(0, |limb, byte| (limb << 8) | u64::from(*byte));
    }
    number
}

fn is_less(left: &FieldNumber, right: &FieldNumber) -> bool {
    left.iter().rev().lt(right.iter().rev())
}

/// Of numbers below the prime.
fn add_modulo(left: &FieldNumber, right: &FieldNumber, prime: &FieldNumber) -> FieldNumber {
    let mut sum = FieldNumber::default();
    let mut carry = false;
    for ((sum, left), right) in sum.iter_mut().zip(left).zip(right) {
        let (partial, first) = left.overflowing_add(*right);
        let (total, second) = partial.overflowing_add(u64::from(carry));
        (*sum, carry) = (total, first || second);
    }
    if is_less(&sum, prime) {
        sum
    } else {
        subtract(&sum, prime)
    }
}

/// Of a number, and one that is not larger.
fn subtract(left: &FieldNumber, right: &FieldNumber) -> FieldNumber {
    let mut difference = FieldNumber::default();
    let mut borrow = false;
    for ((difference, left), right) in difference.iter_mut().zip(left).zip(right) {
        let (partial, first) = left.overflowing_sub(*right);
        let (total, second) = partial.overflowing_sub(u64::from(borrow));
        (*difference, borrow) = (total, first || second);
    }
    difference
}

/// Bit by bit: keys are few, and what they hold is public.
fn multiply_modulo(left: &FieldNumber, right: &FieldNumber, prime: &FieldNumber) -> FieldNumber {
    let mut product = FieldNumber::default();
    for limb in right.iter().rev() {
        for bit in (0..u64::BITS).rev() {
            product = add_modulo(&product, &product, prime);
            if (limb >> bit) & 1 == 1 {
                product = add_modulo(&product, left, prime);
            }
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    }

    /// The base point of a curve lies on it, and no other of its coordinates does.
    #[track_caller]
    fn check(curve: EllipticCurve, x: &str, y: &str) {
        let point = [bytes(x), bytes(y)].concat();
        assert_eq!(check_point(curve, &point), Ok(()));
        let mut other = point.clone();
        *other.last_mut().unwrap() ^= 1;
        assert_eq!(check_point(curve, &other), Err(PointFault::NotOnCurve));
        let large = vec![0xff; point.len()];
        assert_eq!(check_point(curve, &large), Err(PointFault::TooLarge));
    }

    #[test]
    fn base_points_are_on_their_curves() {
        check(
            EllipticCurve::P224,
            "b70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21",
            "bd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34",
        );
        check(
            EllipticCurve::P256,
            "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
            "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
        );
        check(
            EllipticCurve::P384,
            "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
            "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
        );
        check(
            EllipticCurve::P521,
            "00c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3d \
             baa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
            "011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e66 \
             2c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
        );
    }
}
