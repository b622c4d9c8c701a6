// What no test may depend on. The clock can be moved (TEST_CLOCK_OFFSET_MS) and the random values of fast-check set (TEST_SEED), as
// `npm run stress -- flakiness` does; and nothing is said to be absent from a text in which it could stand by chance.
import fc from "fast-check";
import { chai, vi } from "vitest";

const readNumber = (name: string): number => Number(process.env[name] ?? 0);

export const clockOffsetMs = readNumber("TEST_CLOCK_OFFSET_MS");
if (readNumber("TEST_SEED") !== 0) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: readNumber("TEST_SEED") });

const guardKey = Symbol.for("svc.test.chance"); // files that share a runtime run this once each
const isInstalled = Reflect.has(globalThis, guardKey);
Reflect.set(globalThis, guardKey, true);

if (clockOffsetMs !== 0 && !isInstalled) {
  const RealDate = Date;
  const now = RealDate.now;
  const MovedDate = new Proxy(RealDate, {
    construct: (target, args, asked) => Reflect.construct(target, args.length === 0 ? [target.now()] : args, asked),
  });
  RealDate.now = () => now() + clockOffsetMs;
  globalThis.Date = MovedDate;
  const { useRealTimers } = vi;
  vi.useRealTimers = () => {
    useRealTimers.call(vi);
    globalThis.Date = MovedDate; // the clock this knows as real is the one from before the move
    return vi;
  };
}

const longTextChars = 100; // shorter ones are words and sentences, in which chance writes nothing

/** Whether these characters come about by themselves in a long enough text of hex, base64, ids or times. */
export const canOccurByChance = (needle: string): boolean => /^(?:[0-9a-f]{1,7}|[A-Za-z0-9+/_-]{1,5})$/i.test(needle);

const guardShortNeedles: Chai.ChaiPlugin = (_, { flag, overwriteMethod }) => {
  overwriteMethod(
    chai.Assertion.prototype,
    "toContain",
    (toContain: (needle: unknown) => void) =>
      function (this: Chai.AssertionStatic, needle: unknown) {
        const text: unknown = flag(this, "object");
        if (flag(this, "negate") && typeof text === "string" && text.length > longTextChars && canOccurByChance(String(needle))) {
          throw new Error(`"${needle}" could stand in this text by chance: look for something longer, or in one part of it`);
        }
        toContain.call(this, needle);
      },
  );
};
if (!isInstalled) chai.use(guardShortNeedles);
