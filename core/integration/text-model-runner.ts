// The part of the Workers AI binding that the integration helper uses.
export interface TextModelRunner {
  readonly run: (model: string, input: object) => Promise<unknown>;
}
