// The one place that names the product on pages.
export const productName = "svc";
