// Limits the size of a batch that erases or deletes certificates together with their page views.

const maxViewsPerBatch = 20_000; // one certificate can have up to 10,000 views

/** Returns as many certificates from the start of the list as fit in one batch, but at least one. */
export const takeBatch = <T extends { readonly viewRows: number }>(certificates: readonly T[]): readonly T[] => {
  let views = 0;
  const end = certificates.findIndex(({ viewRows }, at) => {
    views += viewRows;
    return at > 0 && views > maxViewsPerBatch;
  });
  return end === -1 ? certificates : certificates.slice(0, end);
};
