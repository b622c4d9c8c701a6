// Replaces packages that our dependencies import for features that the service does not use. The `alias` list in wrangler.toml puts this
// file in their place, so the bundle does not contain them. If a new version of a dependency imports another name, bundling fails.

const leftOut = (): never => {
  throw new Error("This package is not part of the bundle. See `alias` in wrangler.toml.");
};

// For @peculiar/x509. @simplewebauthn/server uses it to check manufacturer certificates.
export const X509Certificate = leftOut;
export const X509ChainBuilder = leftOut;
export const X509Crl = leftOut;
export const AuthorityKeyIdentifierExtension = leftOut;
export const CRLDistributionPointsExtension = leftOut;
export const SubjectKeyIdentifierExtension = leftOut;

// For @peculiar/asn1-android, @peculiar/asn1-rsa and @peculiar/asn1-x509-post-quantum. @simplewebauthn/server uses them for the same check.
export const KeyDescription = leftOut;
export const RSAPublicKey = leftOut;
export const id_ce_keyDescription = "";
export const id_ml_dsa_44 = "";
export const id_ml_dsa_65 = "";
export const id_ml_dsa_87 = "";
export const id_rsaEncryption = "";
export const id_sha1WithRSAEncryption = "";
export const id_sha256WithRSAEncryption = "";
export const id_sha384WithRSAEncryption = "";
export const id_sha512WithRSAEncryption = "";
