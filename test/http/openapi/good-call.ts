import type { Declared, DeclaredParameter } from "./document.ts"

/** Arguments of `api.send`. */
export interface Call {
  method: string
  path: string
  body: unknown
}

export type Ids = Readonly<Record<string, number>>

let made = 0

/**
 * Returns a valid call of an operation: the given ids, the first value of each required parameter, the example body. Goals and
 * funnels get a new name each time, because they must be unique.
 */
export function goodCall({ name, method, path, parameters, bodies }: Declared, ids: Ids): Call {
  const query = parameters.filter((parameter) => parameter.in === "query" && parameter.required).map(firstValue)
  const address = path.replaceAll(/\{(\w+)\}/g, (_, id: string) => String(ids[id]))
  return {
    method,
    path: query.length === 0 ? address : `${address}?${query.join("&")}`,
    body: fresh(name, bodies["application/json"]?.example),
  }
}

const firstValue = ({ name, schema }: DeclaredParameter): string => `${name}=${(schema.enum as string[])[0]}`

function fresh(name: string, example: unknown): unknown {
  if (!["createGoal", "createFunnel"].includes(name)) return example
  made++
  return { ...(example as object), name: `Made ${made}`, ...(name === "createGoal" && { value: `made ${made}` }) }
}
