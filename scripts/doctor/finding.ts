// What a check of `npm run doctor` found.

export interface Finding {
  /** `fail` must be fixed, `warn` is unusual, `ok` needs nothing. */
  readonly level: "ok" | "warn" | "fail";
  readonly text: string;
  /** What to do. Required unless the level is `ok`. */
  readonly fix?: string;
}

export const passed = (text: string): Finding => ({ level: "ok", text });
export const warning = (text: string, fix: string): Finding => ({ level: "warn", text, fix });
export const failure = (text: string, fix: string): Finding => ({ level: "fail", text, fix });
