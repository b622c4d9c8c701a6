// Finds tests that depend on time or chance. Shifts the clock (TEST_CLOCK_OFFSET_MS) and sets fast-check's seed (TEST_SEED, which also
// changes the order of the files). Also rejects assertions that a long text does not contain a short string, because the text could contain
// the string by chance.
import fc from "fast-check";
import { chai, vi } from "vitest";

const readNumber = (name: string): number => Number(process.env[name] ?? 0);

export const clockOffsetMs = readNumber("TEST_CLOCK_OFFSET_MS");
if (readNumber("TEST_SEED") !== 0) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: readNumber("TEST_SEED") });

const guardKey = Symbol.for("svc.test.chance"); // test files that share a runtime all run this module, but it must take effect only once
const isInstalled = Reflect.has(globalThis, guardKey);
Reflect.set(globalThis, guardKey, true);

if (clockOffsetMs !== 0 && !isInstalled) {
  const RealDate = Date;
  const now = RealDate.now;
  const MovedDate = new Proxy(RealDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [target.now()] : args, newTarget),
  });
  RealDate.now = () => now() + clockOffsetMs;
  globalThis.Date = MovedDate;
  const { useRealTimers } = vi;
  vi.useRealTimers = () => {
    useRealTimers.call(vi);
    globalThis.Date = MovedDate; // vitest would otherwise restore the Date that it saw first, which is not shifted
    return vi;
  };
}

const longTextChars = 100; // shorter texts are words and sentences without random parts

/** Returns true for a string that may occur by chance in a long text of hex digits, base64, IDs or times. */
export const canOccurByChance = (needle: string): boolean => /^(?:[0-9a-f]{1,7}|[A-Za-z0-9+/_-]{1,5})$/i.test(needle);

const guardShortNeedles: Chai.ChaiPlugin = (_, { flag, overwriteMethod }) => {
  overwriteMethod(
    chai.Assertion.prototype,
    "toContain",
    (toContain: (needle: unknown) => void) =>
      function (this: Chai.AssertionStatic, needle: unknown) {
        const text: unknown = flag(this, "object");
        if (flag(this, "negate") && typeof text === "string" && text.length > longTextChars && canOccurByChance(String(needle))) {
          throw new Error(`"${needle}" may occur in this text by chance: use a longer string or a part of the text`);
        }
        toContain.call(this, needle);
      },
  );
};
if (!isInstalled) chai.use(guardShortNeedles);
