// Tests which form values count as the person's email addresses and phone numbers, and how phone numbers are formatted.
import { describe, expect, test } from "vitest";
import { recognizeFields } from "../../../core/certificates/recognized-fields.ts";
import { formatPhone, toE164 } from "../../../workers/adapters/phone.ts";

const recognizeRecord = (fields: Record<string, string>, country = "US") =>
  recognizeFields(new Map(Object.entries(fields)), country, toE164);

describe("recognizeFields", () => {
  test.each<[string, string]>([
    ["country", "UK"],
    ["country", "XK"],
    ["country", "EU"],
    ["country", "United States"],
    ["email", "pat@gmailcom"],
    ["email", "a..b@docomo.example"],
    ["email", "pat@example.com, sam@example.com"],
    ["email", "pat@example.com sam@example.com"],
    ["email", "pat@example.com\ufffd"],
    ["email", "Pat <pat@example.com>"],
    ["work_email", "n/a"],
    ["phone", "call my mother"],
    ["phone", "12"],
    ["mobile", "202-555-0123 / 202-555-0124"],
    ["date_of_birth", "1980/01/31"],
    ["date_of_birth", "yesterday"],
    ["date_of_birth", "1981-02-29"],
    ["date_of_birth", "13/13/1980"],
  ])("lists %s %j, which is not of its kind, and does not find anyone by it", (key, value) => {
    expect(recognizeRecord({ [key]: value })).toEqual({ unrecognized: [key], emails: [], phones: [] });
  });

  test("does not list empty values, unrecognized keys or valid values", () => {
    const fields = { email: "", country: "us", date_of_birth: "29.2.1980", email_opt_in: "yes", phone_type: "cell", friend_email: "?" };
    expect(recognizeRecord(fields)).toEqual({ unrecognized: [], emails: [], phones: [] });
  });

  test("finds a person by each email address and phone number, at most five of each, and by none of another person", () => {
    const fields = {
      phone: "+1 202 555 0123",
      mobile: "(202) 555-0124",
      home_phone: "+12025550125",
      phone_2: "202.555.0126",
      whatsapp: "+41 79 123 45 67",
      work_phone: "+12025550127",
      email: "Pat@Example.com",
      email2: "pat@example.net",
      work_email: "pat@work.example",
      email_address: "pat@example.com",
      friend_email: "sam@example.com",
    };
    expect(recognizeRecord(fields)).toEqual({
      unrecognized: [],
      emails: ["pat@example.com", "pat@example.net", "pat@work.example"],
      phones: ["+12025550123", "+12025550124", "+12025550125", "+12025550126", "+41791234567"],
    });
  });

  test.each([
    ["a Swiss mobile number", "079 123 45 67"],
    ["a British mobile number", "07911 123456"],
    ["a French mobile number", "06 12 34 56 78"],
    ["an Indian mobile number of ten digits", "9876543210"],
    ["a German number", "0151 23456789"],
    ["a Russian number", "8 (912) 345-67-89"],
    ["a Chinese number", "13800138000"],
    ["an area code that does not exist", "(555) 555-0123"],
    ["a number without an area code", "555-0123"],
  ])("does not treat %s as a US number for a US business", (_name, phone) => {
    expect(recognizeRecord({ phone }).phones).toEqual([]);
    expect(recognizeRecord({ phone }).unrecognized).toEqual(["phone"]);
  });

  test.each([
    ["079 123 45 67", "CH", "+41791234567"],
    ["07911 123456", "GB", "+447911123456"],
    ["9876543210", "IN", "+919876543210"],
    ["+44 7911 123456", "US", "+447911123456"],
    ["011 44 7911 123456", "US", "+447911123456"],
    ["+1 555 555 0123", "US", "+15555550123"],
    ["(202) 555-0123 ext. 5", "US", "+12025550123"],
    ["1-800-FLOWERS", "US", "+18003569377"],
    ["（２０２）５５５－０１２３", "US", "+12025550123"],
    ["\u202a+1 202 555 0123\u202c", "US", "+12025550123"],
  ])("reads %s in %s as %s", (phone, country, found) => {
    expect(recognizeRecord({ phone }, country)).toEqual({ unrecognized: [], emails: [], phones: [found] });
  });
});

describe("formatPhone", () => {
  test.each([
    ["(202) 555-0123", "US", "+1 202 555 0123"],
    ["202.555.0123", "CA", "+1 202 555 0123"],
    ["+12025550123", "DE", "+1 202 555 0123"],
    ["(202) 555-0123 ext. 7", "US", "+1 202 555 0123 ext. 7"],
    ["202-555-0123 x42", "US", "+1 202 555 0123 ext. 42"],
    ["1-800-FLOWERS", "US", "+1 800 356 9377"],
    ["２０２５５５０１２３", "US", "+1 202 555 0123"],
    ["٢٠٢٥٥٥٠١٢٣", "US", "+1 202 555 0123"],
    ["\u202d(202) 555-0123\u202c", "US", "+1 202 555 0123"],
    ["030 901820", "DE", "+49 30 901820"],
    ["020 7946 0018", "GB", "+44 20 7946 0018"],
    ["12", "US", "12"],
    ["by appointment", "US", "by appointment"],
    ["", "US", ""],
    ["(202) 555-0123", "XK", "(202) 555-0123"],
  ])("shows %j, typed in %s, as %j", (typed, country, shown) => {
    expect(formatPhone(typed, country)).toBe(shown);
  });
});
