import { ExitFault } from "../services/runtime/exit.ts"
import type { Command } from "./command.ts"

const list: Command = {
  name: "node list",
  about: "List the nodes that use the catalog, also those that have stopped.",
  async run({ json, terminal, program, settings }) {
    const nodes = await program.withOperations(settings, terminal.progress, (call) => call("node.list", {}))
    if (json) return terminal.json(nodes)
    terminal.table(
      ["number", "process", "version", "state", "late since"],
      nodes.map(({ number, process, version, state, late_since }) => [number, process, version, state, late_since ?? ""]),
    )
  },
}

const forget: Command = {
  name: "node forget",
  about: "Give up a node that will not return: nothing waits for it any more. Events that only its data folder has are lost.",
  takes: ["number"],
  async run({ given, json, terminal, program, settings }) {
    const number = Number(given.number)
    if (!Number.isInteger(number)) throw new ExitFault("usage", "The number of a node is a whole number, as in footfall node list")
    await program.withOperations(settings, terminal.progress, (call) => call("node.forget", { number }))
    if (json) terminal.json({ forgotten: number })
    else terminal.line(`Node ${number} was forgotten. Its data folder cannot be used any more.`)
  },
}

export const nodeCommands: readonly Command[] = [list, forget]
