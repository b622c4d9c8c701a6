// What build.mjs offers to the scripts and tests that are type-checked.
export const gzipLimit: number;
export function buildWidget(options: { readonly outDir: string }): Promise<{
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly brotliBytes: number;
  readonly hash12: string;
  readonly integrity: string;
}>;
