// The three synchronous functions that core/hash.ts uses. Declared here so that core compiles with no platform types
// at all (an impure call anywhere else in core is then a compile error). Both workerd (nodejs_compat) and Node have them.
declare module "node:crypto" {
  interface Hash {
    update(data: Uint8Array): Hash;
    digest(): Uint8Array;
  }
  export function createHash(algorithm: "sha256"): Hash;
  export function createHmac(algorithm: "sha256", key: Uint8Array): Hash;
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
}
