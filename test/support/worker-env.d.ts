// Types of the bindings and exports used in tests.
declare module "*.md?raw" {
  const text: string;
  export default text;
}
declare namespace Cloudflare {
  type WorkerEnv = import("../../workers/env.ts").Env;
  interface Env extends WorkerEnv {
    readonly DB_01: D1Database;
    readonly LOG_TILES: R2Bucket;
    readonly LOG_SEED: string;
    readonly TEST_SCHEMA: readonly string[];
  }
  interface GlobalProps {
    readonly mainModule: typeof import("../../workers/index.ts");
  }
}
