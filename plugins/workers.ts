/** Work of plugins that runs in threads of its own, by plugin. Loaded in the thread only. */
import type { PluginWorker } from "#plugin"

export const WORKERS: Readonly<Record<string, () => Promise<{ default: PluginWorker }>>> = {
  imports: () => import("./imports/run/worker.ts"),
}
