import type { Client, Config } from "@libsql/client"
import type { LibsqlError } from "@libsql/client/sqlite3"
import { unpackNativePart } from "./native-part.ts"

/**
 * Creates a client with one connection, because pragmas apply to a connection and a second one would not have them. The library is
 * loaded only when a catalog is opened: its native part is the slowest step of a start, and its network client uses memory that most
 * instances do not need.
 */
export async function createClient(config: Pick<Config, "url" | "authToken">): Promise<Client> {
  await unpackNativePart()
  const library = await (config.url.startsWith("file:") ? import("@libsql/client/sqlite3") : import("@libsql/client"))
  return library.createClient({ ...config, concurrency: 1 })
}

/** Returns whether an error comes from libSQL. It compares the name, because `instanceof` would load the library. */
export const isLibsqlError = (error: unknown): error is LibsqlError => error instanceof Error && error.name === "LibsqlError"
