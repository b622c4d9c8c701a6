// Types of the bindings and exports used in tests.
declare module "*.md?raw" {
  const text: string;
  export default text;
}
declare namespace Cloudflare {
  interface Env {
    readonly DB: D1Database;
    readonly DB_01: D1Database;
    readonly KV: KVNamespace;
    readonly TEST_SCHEMA: readonly string[];
    readonly [name: string]: unknown;
  }
  interface GlobalProps {
    readonly mainModule: typeof import("../../workers/index.ts");
  }
}
