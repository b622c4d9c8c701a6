// Tests which fields of a page's form the integration helper maps.
import { describe, expect, it } from "vitest";
import { mapForm } from "../../../core/integration/mapping.ts";
import { parseFormPage } from "../../../workers/adapters/form-page.ts";

const listKeys = (controls: string): readonly string[] | undefined =>
  mapForm(parseFormPage(`<form>${controls}</form>`), ["Acme Solar LLC"])?.fields.map(({ key }) => key);

describe("mapForm", () => {
  it("maps no field to a key that the API reserves", () => {
    expect(listKeys('<input name="email"><input name="c" data-svc-field="constructor">')).toEqual(["email"]);
  });

  it("maps fields with autocomplete=new-password that another hint identifies", () => {
    const controls = '<input name="email" autocomplete="new-password"><input name="secret_word" autocomplete="new-password">';
    expect(listKeys(controls)).toEqual(["email"]);
  });

  it.each(["Kartennummer", "EC-Karte", "IBAN", "Numéro de carte", "Número de tarjeta"])(
    "does not map an input of type tel with the label %s",
    (label) => {
      expect(listKeys(`<input name="email"><label>${label} <input type="tel" name="f9"></label>`)).toEqual(["email"]);
    },
  );
});
