// What build.mjs offers to the scripts and tests that are type-checked.
export const gzipLimit: number;
export interface BuiltScript {
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly brotliBytes: number;
  readonly hash12: string;
  readonly integrity: string;
}
export function buildWidget(options: {
  readonly outDir: string;
  readonly appUrl?: string;
}): Promise<BuiltScript & { readonly share: BuiltScript }>;
