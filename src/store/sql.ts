export type Value = string | number | bigint | boolean | Uint8Array | null

/** An SQL statement with its values. */
export class Sql {
  constructor(
    readonly text: string,
    readonly values: readonly Value[],
  ) {}
}

/** Creates a statement from a template. Values become `?` parameters; a nested `Sql` is inserted as text. */
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

/** Creates a statement from unescaped text. For literals of the source code only, never for input. */
export const raw = (text: string): Sql => new Sql(text, [])
