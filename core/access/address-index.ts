// The indexes by which email addresses and phone numbers are found. In memory, an index also contains the forms in which rows can store it:
// after a rotation of the index keys, rows contain the index encrypted, and during the rotation they can contain either of two forms.

declare const kind: unique symbol;

/**
 * The index of an address, with all forms to search for. Two indexes of the same address are equal in code that runs with the same keys.
 */
export type AddressIndex = string & { readonly [kind]: "index" };

/** One form of an index, as a row stores it: 32 hex characters, or `<number of the key>.<32 hex characters>` if it is encrypted. */
export type StoredIndex = string & { readonly [kind]: "stored" };

const separator = "|";

/** Creates an index. `forms` are the forms to search for. The first one is written to new rows. */
export const createAddressIndex = (plain: string, forms: readonly [string, ...string[]]): AddressIndex =>
  (forms.length === 1 && forms[0] === plain ? plain : [plain, ...forms].join(separator)) as AddressIndex;

/** Lists the stored forms to search for. The first one is the form that is written to new rows. */
export const listStoredForms = (index: AddressIndex): readonly [StoredIndex, ...StoredIndex[]] => {
  const [plain, ...forms] = index.split(separator);
  return (forms.length === 0 ? [plain] : forms) as unknown as readonly [StoredIndex, ...StoredIndex[]];
};

/** Returns the form that new rows contain. */
export const toStoredIndex = (index: AddressIndex): StoredIndex => listStoredForms(index)[0];

/** Returns the index without encryption, which stays the same during a rotation. It must not be stored. */
export const getPlainIndex = (index: AddressIndex): string => index.split(separator, 1)[0] as string;
