import { Elysia } from "elysia"
import { notFound } from "../errors.ts"

const absent = (): never => {
  throw notFound()
}

/**
 * Creates routes that answer 404 for OAuth discovery. Clients request these paths after a 401 and would follow any other response,
 * so the dashboard must not serve a page here.
 */
export const discoveryRoutes = () =>
  new Elysia().all("/.well-known/*", absent, { parse: "none" }).all("/register", absent, { parse: "none" })
