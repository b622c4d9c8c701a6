// The product name as pages show it.
export const productName = "svc";
