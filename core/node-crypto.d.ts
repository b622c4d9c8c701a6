// The three synchronous functions that core/hash.ts uses. Because they are declared here, core compiles without the types of a platform, so
// a call of any other platform function in core is a compile error. Both workerd (nodejs_compat) and Node provide them.
declare module "node:crypto" {
  interface Hash {
    update(data: Uint8Array): Hash;
    digest(): Uint8Array;
  }
  export function createHash(algorithm: "sha256"): Hash;
  export function createHmac(algorithm: "sha256", key: Uint8Array): Hash;
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
}
