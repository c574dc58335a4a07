import type { Client, Config } from "@libsql/client"
import type { LibsqlError } from "@libsql/client/sqlite3"
import { unpackNativePart } from "./native-part.ts"

/**
 * A client with one connection: settings belong to a connection, and a second one would not have them. The library is loaded
 * when a catalog is opened: its native part is the slowest piece of a start, and what speaks to servers costs memory that
 * most instances need not spend.
 */
export async function createClient(config: Pick<Config, "url" | "authToken">): Promise<Client> {
  await unpackNativePart()
  const library = await (config.url.startsWith("file:") ? import("@libsql/client/sqlite3") : import("@libsql/client"))
  return library.createClient({ ...config, concurrency: 1 })
}

/** By its name: a test by class would load the library. */
export const isLibsqlError = (error: unknown): error is LibsqlError => error instanceof Error && error.name === "LibsqlError"
