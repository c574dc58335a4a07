export type Value = string | number | bigint | boolean | Uint8Array | null

/** A statement with its values. Only the `sql` tag and the two functions below make one. */
export class Sql {
  constructor(
    readonly text: string,
    readonly values: readonly Value[],
  ) {}
}

/** Values become `?`; a nested `Sql` is spliced in. Text can only come from our own source. */
export function sql(parts: TemplateStringsArray, ...holes: readonly (Value | undefined | Sql)[]): Sql {
  const values: Value[] = []
  let text = parts[0]!
  holes.forEach((hole, i) => {
    if (hole instanceof Sql) values.push(...hole.values)
    else values.push(hole ?? null)
    text += (hole instanceof Sql ? hole.text : "?") + parts[i + 1]!
  })
  return new Sql(text, values)
}

/** Text as it stands: for literals of our own source only, never for anything that was sent. */
export const raw = (text: string): Sql => new Sql(text, [])
