import { Elysia } from "elysia"
import { notFound } from "../errors.ts"

const absent = (): never => {
  throw notFound()
}

/**
 * There are no OAuth servers and nothing to register with. Clients look for them after a 401 and would follow whatever else
 * is answered there, so no page may ever stand at these addresses.
 */
export const discoveryRoutes = () =>
  new Elysia().all("/.well-known/*", absent, { parse: "none" }).all("/register", absent, { parse: "none" })
