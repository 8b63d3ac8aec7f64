//! Whether the numbers of an RSA key belong together.

use num_bigint::BigUint;

/// The longest numbers with which is computed, in bytes: twice those of the largest keys that are used. What is larger is taken to
/// be consistent, as a number of a megabyte would take hours.
const MAX_SIZE: usize = 2048;

/// The numbers of a private key, all positive, the highest byte first.
pub(super) struct RsaNumbers<'d> {
    pub(super) modulus: &'d [u8],
    pub(super) exponent: i64,
    pub(super) private: &'d [u8],
    /// Two or more.
    pub(super) primes: Vec<&'d [u8]>,
    pub(super) exponents: Option<RsaExponents<'d>>,
}

/// What can be computed of a key, and is stored in most.
pub(super) struct RsaExponents<'d> {
    /// The private exponent modulo each prime less one.
    pub(super) exponents: [&'d [u8]; 2],
    /// The inverse of the second prime modulo the first.
    pub(super) coefficient: &'d [u8],
}

impl RsaNumbers<'_> {
    // Upstream: crypto/rsa/rsa.go, PrivateKey.Validate; crypto/internal/fips140/rsa/rsa.go, checkPrivateKey
    pub(super) fn are_consistent(&self) -> bool {
        let is_exponent = self.exponent & 1 == 1 && (2..=i64::from(i32::MAX)).contains(&self.exponent);
        if !is_exponent {
            return false;
        }
        if self.modulus.len() > MAX_SIZE {
            return true;
        }
        // No other number of a key is larger than its modulus.
        let mut others = self.primes.iter().chain([&self.private]);
        if others.any(|number| number.len() > self.modulus.len()) {
            return false;
        }
        let modulus = BigUint::from_bytes_be(self.modulus);
        let private = BigUint::from_bytes_be(self.private);
        let primes: Vec<BigUint> = self
            .primes
            .iter()
            .map(|prime| BigUint::from_bytes_be(prime))
            .collect();
        if modulus == one() || !modulus.bit(0) || private >= modulus {
            return false;
        }
        match primes.as_slice() {
            [first, second] => self.are_of_primes(&modulus, &private, first, second),
            _ => are_coprime(&primes),
        }
    }

    fn are_of_primes(&self, modulus: &BigUint, private: &BigUint, first: &BigUint, second: &BigUint) -> bool {
        let is_product = first < modulus && second < modulus && (first * second) % modulus == zero();
        if !is_product || *first < two() + one() || *second < two() + one() {
            return false;
        }
        let (first_order, second_order) = (first - one(), second - one());
        let (first_exponent, second_exponent) = (private % &first_order, private % &second_order);
        let coefficient = match &self.exponents {
            Some(stored) => {
                let [first_stored, second_stored] = stored.exponents.map(BigUint::from_bytes_be);
                if first_stored != first_exponent || second_stored != second_exponent {
                    return false;
                }
                BigUint::from_bytes_be(stored.coefficient)
            }
            // An even number is no prime, and neither is one for which this is no inverse.
            None if first.bit(0) => second.modpow(&(first - two()), first),
            None => return false,
        };
        let exponent = BigUint::from(self.exponent.unsigned_abs());
        let is_inverse =
            |number: &BigUint, other: &BigUint, order: &BigUint| (number * other) % order == one();
        let difference = if first > second {
            first - second
        } else {
            second - first
        };
        let half = modulus.bits() / 2;
        coefficient < *first
            && is_inverse(&exponent, &first_exponent, &first_order)
            && is_inverse(&exponent, &second_exponent, &second_order)
            && is_inverse(second, &coefficient, first)
            && first != second
            // Primes that are close to each other, and small exponents, can be found.
            && difference.bits() + 100 > half
            && private.bits() > half
    }
}

/// Whether no two of many numbers have a factor in common; of such keys no more is asked.
// Upstream: crypto/rsa/rsa.go, PrivateKey.precomputeLegacy
fn are_coprime(primes: &[BigUint]) -> bool {
    let mut product = one();
    primes.iter().all(|prime| {
        // A key of a megabyte may have hundreds of thousands of primes, whose product would grow without a bound. As with a
        // modulus that is too large, no more is computed.
        if product.bits() > 8 * MAX_SIZE as u64 {
            return *prime > one();
        }
        let is_coprime = *prime > one() && (product == one() || (&product % prime).modinv(prime).is_some());
        product *= prime;
        is_coprime
    })
}

fn zero() -> BigUint {
    BigUint::ZERO
}

fn one() -> BigUint {
    BigUint::from(1u8)
}

fn two() -> BigUint {
    BigUint::from(2u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_products_are_not_computed() {
        let numbers = |numbers: [u32; 3]| numbers.map(BigUint::from);
        assert!(are_coprime(&numbers([3, 5, 7])));
        assert!(!are_coprime(&numbers([3, 5, 3])));
        let large = one() << (8 * MAX_SIZE);
        let of_large = |last: u8| are_coprime(&[large.clone(), BigUint::from(2u8), BigUint::from(last)]);
        // The first two have a factor in common, which nobody asks.
        assert!(of_large(2));
        assert!(!of_large(1));
    }
}
