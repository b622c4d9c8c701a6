// The one place that names the product on pages.
export const brand = "svc";
