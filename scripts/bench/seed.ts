export const seedCertificates = async (_: unknown): Promise<void> => {};
