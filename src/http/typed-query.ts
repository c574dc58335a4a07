import type { AnyElysia } from "elysia"

type Query = Record<string, unknown>

/**
 * Returns a function that converts texts of a query to the numbers and booleans that the schema of its route declares. Other texts
 * are unchanged, and the schema rejects them. Elysia only converts for schemas created with its own library.
 */
export function typedQueries(app: AnyElysia): (method: string, route: string, query: Query) => void {
  const types = new Map(app.routes.map(({ method, path, hooks }) => [`${method} ${path}`, convertersOf(hooks?.query)] as const))
  return (method, route, query) => {
    for (const [name, convert] of types.get(`${method === "HEAD" ? "GET" : method} ${route}`) ?? [])
      if (typeof query[name] === "string") query[name] = convert(query[name])
  }
}

type Convert = (text: string) => unknown

const CONVERTERS: Readonly<Record<string, Convert>> = {
  integer: (text) => (/^-?(0|[1-9]\d*)$/.test(text) ? Number(text) : text),
  number: (text) => (/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === "true" ? true : text === "false" ? false : text),
}

function convertersOf(schema: unknown): [name: string, convert: Convert][] {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, { type?: string }> } // routes have schemas of objects
  return Object.entries(properties).flatMap(([name, { type = "" }]) => {
    const convert = CONVERTERS[type]
    return convert ? [[name, convert] as [string, Convert]] : []
  })
}
