/** A node that starts the jobs of a catalog on a server and never ends them. It prints a line when it runs one. */
import { createJobQueue } from "../../../src/services/jobs/queue.ts"
import { openCatalog } from "../../../src/store/catalog/catalog.ts"
import { fixedClock, memoryLog, random } from "../../kit.ts"

const catalog = await openCatalog(process.argv[2]!)
const clock = fixedClock("2026-11-21T12:00:00Z")
const jobs = createJobQueue({ catalog, clock, log: memoryLog(), random, nodes: { own: 7, live: () => [7] } })
jobs.define("a.do-it", {
  interrupted: "resume",
  run: async () => {
    console.log("running")
    await new Promise(() => {})
  },
})
await jobs.tick()
