import { join } from "node:path"
import { type Instance, openInstance } from "../../src/services/instance/instance.ts"
import type { SmtpSettings } from "../../src/services/mail/mail.ts"
import type { PluginFacts } from "../../src/services/runtime/plugins.ts"
import { libsqlServer } from "../fakes/libsql-server.ts"
import { fixedClock, temporaryFolder } from "../kit.ts"
import { NOW, optionsFor } from "./stores-kit.ts"

const NOTES: PluginFacts = { id: "notes", title: "Notes", permissions: {}, migrations: [], rowMigrations: [], sealedSlugs: [] }

/** Opens nodes that share a catalog on a server, each with a data folder of its own, and closes all at the end of the scope. */
export async function openNodes({ smtp, plugins = [NOTES] }: { smtp?: SmtpSettings; plugins?: readonly PluginFacts[] } = {}) {
  const folder = temporaryFolder()
  const server = await libsqlServer(join(folder.path, "server"))
  const open: Instance[] = []
  const clock = fixedClock(NOW)
  const optionsOf = (name: string) =>
    optionsFor(join(folder.path, name), {
      remoteCatalog: { url: server.url, authToken: undefined },
      secretKey: Buffer.alloc(32, 7).toString("base64"),
      severalNodes: true,
      clock,
      accounts: { ...optionsFor("").accounts, smtp },
      plugins,
    })
  return {
    clock,
    optionsOf,
    /** Opens a node on the folder with this name. */
    async node(name: string): Promise<Instance> {
      const instance = await openInstance(optionsOf(name))
      open.push(instance)
      return instance
    },
    /** Closes a node as an orderly stop does. */
    async stop(instance: Instance): Promise<void> {
      open.splice(open.indexOf(instance), 1)
      await instance.close()
    },
    async [Symbol.asyncDispose]() {
      for (const instance of open) await instance.close()
      await server[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}
