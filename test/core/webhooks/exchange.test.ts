// Tests which parts of a response are kept: readable text of limited length, regardless of what a receiver sends.
import { describe, expect, test } from "vitest";
import { encodeUtf8 } from "../../../core/bytes.ts";
import { cutHeaders, maxResponseBodyBytes, toResponseBody } from "../../../core/webhooks/exchange.ts";

describe("the kept start of a response body", () => {
  test("is the whole body when it is short", () => {
    expect(toResponseBody(encodeUtf8('{"ok":true}\n'), false)).toEqual({ body: '{"ok":true}\n', isCut: false });
    expect(toResponseBody(new Uint8Array(), false)).toEqual({ body: "", isCut: false });
  });

  test("ends before a character that the cut would split", () => {
    const { body, isCut } = toResponseBody(encodeUtf8(`${"x".repeat(maxResponseBodyBytes - 1)}é and more`), false);
    expect([body, isCut]).toEqual(["x".repeat(maxResponseBodyBytes - 1), true]);
  });

  test("has at most 4 kB, regardless of the bytes", () => {
    for (const byte of [0x00, 0x0a, 0x22, 0x80, 0xc3, 0xff]) {
      const { body } = toResponseBody(new Uint8Array(maxResponseBodyBytes).fill(byte), true);
      expect(encodeUtf8(body).length).toBeLessThanOrEqual(maxResponseBodyBytes);
      expect(encodeUtf8(JSON.stringify(body)).length).toBeLessThanOrEqual(2 * maxResponseBodyBytes + 2);
    }
  });

  test("shows bytes that are not UTF-8 and control characters as U+FFFD", () => {
    expect(toResponseBody(new Uint8Array([0x61, 0xff, 0x00, 0x1b, 0x09, 0x62]), false).body).toBe("a\ufffd\ufffd\ufffd\tb");
  });
});

describe("the kept headers", () => {
  test("are all headers, in their order, if there are few", () => {
    const headers = [
      ["content-type", "text/plain"],
      ["x-request-id", "1"],
    ] as const;
    expect(cutHeaders(headers)).toEqual({ headers, isCut: false });
  });

  test("are at most 50, and at most 4 kB", () => {
    const many = cutHeaders(Array.from({ length: 60 }, (_, at) => [`x-${at}`, "1"] as const));
    expect([many.headers.length, many.isCut]).toEqual([50, true]);
    const large = cutHeaders(Array.from({ length: 5 }, (_, at) => [`x-${at}`, "é".repeat(1_000)] as const));
    expect([large.headers.length, large.isCut]).toEqual([2, true]);
  });
});
