/** The file belongs to another program, a later version of this one wrote it, or it cannot be brought to this version. Of either store. */
export class StoreRefusal extends Error {
  constructor(
    readonly reason: "foreign" | "newer" | "migration",
    message: string,
  ) {
    super(message)
    this.name = "StoreRefusal"
  }
}

export const foreignFile = (path: string) => new StoreRefusal("foreign", `${path} belongs to another program`)
