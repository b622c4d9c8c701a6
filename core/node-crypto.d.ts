// The synchronous crypto functions that core/hash.ts and core/block-cipher.ts use. Both workerd (nodejs_compat) and Node provide them. Core
// has no platform types except these declarations and platform.d.ts, so using any other part of the platform in core is a compile error.
declare module "node:crypto" {
  interface Hash {
    update(data: Uint8Array): Hash;
    digest(): Uint8Array;
  }
  interface Cipher {
    setAutoPadding(isPadded: boolean): void;
    update(data: Uint8Array): Uint8Array;
  }
  export function createCipheriv(algorithm: "aes-256-ecb", key: Uint8Array, iv: null): Cipher;
  export function createDecipheriv(algorithm: "aes-256-ecb", key: Uint8Array, iv: null): Cipher;
  export function createHash(algorithm: "sha256"): Hash;
  export function createHmac(algorithm: "sha256", key: Uint8Array): Hash;
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
}
