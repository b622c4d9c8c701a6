// Indexes for finding rows by email address or phone number. Before the first rotation of the index encryption keys, rows store the index
// itself. After it, they store an encrypted form. An `AddressIndex` therefore contains the index and every stored form to search for: two
// forms during a rotation, and otherwise one.

declare const kind: unique symbol;

/**
 * The index of an email address or phone number, with the stored forms to search for. Two values for the same address are equal if they
 * were created with the same keys.
 */
export type AddressIndex = string & { readonly [kind]: "index" };

/** One stored form of an index: 32 hex characters, or `<number of the key>.<32 hex characters>` if it is encrypted. */
export type StoredIndex = string & { readonly [kind]: "stored" };

const separator = "|";

/** Creates an index from the unencrypted index and the forms to search for. New rows contain the first form. */
export const createAddressIndex = (plain: string, forms: readonly [string, ...string[]]): AddressIndex =>
  (forms.length === 1 && forms[0] === plain ? plain : [plain, ...forms].join(separator)) as AddressIndex;

export const listStoredForms = (index: AddressIndex): readonly [StoredIndex, ...StoredIndex[]] => {
  const [plain, ...forms] = index.split(separator);
  return (forms.length === 0 ? [plain] : forms) as unknown as readonly [StoredIndex, ...StoredIndex[]];
};

/** Returns the form to write to new rows. */
export const toStoredIndex = (index: AddressIndex): StoredIndex => listStoredForms(index)[0];

/** Returns the unencrypted index, which does not change when keys are rotated. To write a row, use `toStoredIndex` instead. */
export const getPlainIndex = (index: AddressIndex): string => index.split(separator, 1)[0] as string;
