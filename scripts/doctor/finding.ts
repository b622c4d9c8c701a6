// The result of one check of `npm run doctor`.

export interface Finding {
  /** `fail` must be fixed, `warn` is unusual, and `ok` requires no action. */
  readonly level: "ok" | "warn" | "fail";
  readonly text: string;
  /** What to do. Required unless the level is `ok`. */
  readonly fix?: string;
}

export const passed = (text: string): Finding => ({ level: "ok", text });
export const warning = (text: string, fix: string): Finding => ({ level: "warn", text, fix });
export const failure = (text: string, fix: string): Finding => ({ level: "fail", text, fix });
