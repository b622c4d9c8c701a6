// Tests that a language model that is slow, fails or returns invalid output never blocks the integration helper.
import { afterEach, expect, test, vi } from "vitest";
import { createFormModel } from "../../../workers/adapters/form-model.ts";

const question = { controls: [], boxes: [], texts: [] };
const askModel = async (run: () => Promise<unknown>): Promise<readonly [unknown, readonly string[]]> => {
  const faults: string[] = [];
  const proposal = createFormModel({ run }, "model", (fault) => void faults.push(fault))(question);
  await vi.advanceTimersByTimeAsync(8_000);
  return [await proposal, faults];
};

afterEach(() => {
  vi.useRealTimers();
});

test("a model is ignored when it does not respond in time", async () => {
  vi.useFakeTimers();
  expect(await askModel(() => new Promise(() => {}))).toEqual([null, ["timeout"]]);
});

test("a model is ignored when it throws or returns another shape", async () => {
  vi.useFakeTimers();
  expect(await askModel(() => Promise.reject(new Error("no capacity")))).toEqual([null, ["unreachable"]]);
  expect(await askModel(async () => ({ response: "{" }))).toEqual([null, ["shape"]]);
  expect(await askModel(async () => ({ response: { fields: 1 } }))).toEqual([null, ["shape"]]);
  expect(await askModel(async () => null)).toEqual([null, ["unreachable"]]);
});

test("only the parts of a model's output that match the schema are used, as text or as an object", async () => {
  vi.useFakeTimers();
  const proposal = { fields: [{ n: 1, key: "city" }], checkbox: null, disclosure: 2 };
  expect(await askModel(async () => ({ response: { ...proposal, more: "<script>" } }))).toEqual([proposal, []]);
  expect(await askModel(async () => ({ response: JSON.stringify(proposal) }))).toEqual([proposal, []]);
});
