// The globals of the web platform that core may use. None of them has side effects.
declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, into: Uint8Array): { readonly written: number };
}
declare class TextDecoder {
  constructor(label?: "utf-8", options?: { fatal: true; ignoreBOM: true });
  decode(bytes: Uint8Array): string;
}
declare class URL {
  constructor(url: string, base?: string);
  static canParse(url: string, base?: string): boolean;
  readonly href: string;
  readonly origin: string;
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}
declare class URLSearchParams {
  set(name: string, value: string): void;
  toString(): string;
}
declare function btoa(binary: string): string;
declare function atob(base64: string): string;
/** Core uses this class only in interfaces, which adapters implement. */
declare class AbortSignal {
  readonly aborted: boolean;
}
