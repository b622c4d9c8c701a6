// Types of build.mjs for the scripts and tests that import it.
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
