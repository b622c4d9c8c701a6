// The three synchronous functions that core/hash.ts uses. Both workerd (nodejs_compat) and Node provide them. These declarations let core
// compile without platform types, so calling any other platform function in core is a compile error.
declare module "node:crypto" {
  interface Hash {
    update(data: Uint8Array): Hash;
    digest(): Uint8Array;
  }
  export function createHash(algorithm: "sha256"): Hash;
  export function createHmac(algorithm: "sha256", key: Uint8Array): Hash;
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
}
