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
  const given = parameters.filter((parameter) => parameter.in === "query" && (parameter.required || parameter.name === "site"))
  const query = given.map((parameter) => (/^site(_id)?$/.test(parameter.name) ? `${parameter.name}=${ids.site_id}` : firstValue(parameter)))
  // Paths of other products name a site by its host or their own id; its id works, too.
  const address = path.replaceAll(/\{(\w+)\}/g, (_, id: string) => String(ids[id] ?? ids.site_id))
  return {
    method,
    path: query.length === 0 ? address : `${address}?${query.join("&")}`,
    body: fresh(name, named(bodies["application/json"]?.example, ids)),
  }
}

const firstValue = ({ name, schema }: DeclaredParameter): string => `${name}=${((schema.enum ?? schema.examples) as unknown[])[0]}`

/** Names the site by its id where a body names one. */
const named = (example: unknown, { site_id }: Ids): unknown =>
  typeof example === "object" && example !== null && "site_id" in example && site_id !== undefined ? { ...example, site_id } : example

function fresh(name: string, example: unknown): unknown {
  if (name === "createPlausibleSite") return { ...(example as object), domain: `made-${++made}.example` }
  // A key creates others with its own scopes only.
  if (name === "createApiKey") return { ...(example as object), scopes: ["keys:read"] }
  if (name === "updatePlausibleSite") return { ...(example as object), domain: `new-${++made}.example` }
  if (name === "putPlausibleGoal") return { ...(example as object), event_name: `made ${++made}`, display_name: `Made ${made}` }
  // A new site recognizes visitors for one day, and the example follows them over two.
  if (name === "getRetention") return { ...(example as object), periods: 1 }
  if (!["createGoal", "createFunnel"].includes(name)) return example
  made++
  return { ...(example as object), name: `Made ${made}`, ...(name === "createGoal" && { value: `made ${made}` }) }
}

/** Returns the operation that creates what another one deletes. Resources of Plausible's API are created by our own, members are put. */
const makerOf = (operations: readonly Declared[], { name }: Declared): Declared =>
  operations.find((one) => one.name === name.replace("delete", name === "deleteMember" ? "put" : "create").replace("Plausible", ""))!

/** Returns a call that works now. A deletion removes a resource that is created for it with `send`. */
export async function workingCall(
  operations: readonly Declared[],
  operation: Declared,
  ids: Ids,
  send: (call: Call) => Promise<{ body: unknown }>,
): Promise<Call> {
  if (operation.method !== "DELETE") return goodCall(operation, ids)
  const { body } = await send(goodCall(makerOf(operations, operation), ids))
  const id = operation.ids.at(-1)!
  return goodCall(operation, { ...ids, [id === "domain" ? "site_id" : id]: (body as { id: number }).id })
}
