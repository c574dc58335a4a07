/** Reports of members beside 200 viewers of one shared dashboard, next to the same reports on an idle server in the same run. */
import { FROM_SOURCE, prepareUser, serveFootfall } from "../../instance.ts"
import { fillDataDir } from "../server/memory.ts"
import type { DataOptions } from "../stores/data.ts"
import { count, ms, table, times } from "../table.ts"
import { quantile, timed } from "../timing.ts"
import { member, TILES } from "./dashboards.ts"

const VIEWERS = 200
/** Time between two requests of a viewer. Pages ask every 30 seconds at most. */
const PAUSE_MS = 10_000
export async function measureBoardViewers(options: DataOptions): Promise<void> {
  await using filled = await fillDataDir(FROM_SOURCE, options, prepareUser)
  await using server = await serveFootfall({ dataDir: filled.dataDir, flags: ["--private-rate", "100000"] })
  const ask = await member(server.address, filled.site.siteId)
  const board = async (name: string, tiles: typeof TILES) => {
    const widgets = tiles.map((tile, i) => ({ ...tile, x: 0, y: i * 2, w: 4, h: 2 }))
    return (await ask("POST", "/dashboards", { name, visibility: "site", range: { period: "28d" }, widgets })).id
  }
  const id = await board("Wall", TILES.slice(0, 12))
  const own = await board("Own", TILES.slice(12, 15))
  const { slug } = await ask("POST", `/dashboards/${id}/shares`, { name: "Wall" })
  const url = `${server.address}/api/share/d/${slug}/data`
  const report = () => timed(() => ask("POST", `/dashboards/${own}/data`, {}), { runs: 25, budgetMs: 15_000 })
  await report()
  const idle = await report()

  let isOver = false
  const answers: number[] = []
  const refused: number[] = []
  const viewers = Array.from({ length: VIEWERS }, async (_, viewer) => {
    await Bun.sleep((viewer * PAUSE_MS) / VIEWERS)
    while (!isOver) {
      const from = performance.now()
      const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" })
      await answer.text()
      if (answer.ok) answers.push(performance.now() - from)
      else refused.push(answer.status)
      await Bun.sleep(PAUSE_MS)
    }
  })
  await Bun.sleep(PAUSE_MS)
  const beside = await report()
  isOver = true
  await Promise.race([Promise.all(viewers), Bun.sleep(PAUSE_MS)])

  console.log(`\n### ${VIEWERS} viewers of a shared dashboard, ${count(options.events)} events in ${options.days} days\n`)
  console.log(`${count(answers.length)} answers to viewers, ${count(refused.length)} refusals.\n`)
  const rows = [
    ["three reports of a member, idle", ms(idle.median), ms(idle.p95), ""],
    ["the same beside the viewers", ms(beside.median), ms(beside.p95), `${times(beside.median / idle.median)} idle (bar 2×)`],
    ["a viewer's dashboard of 12 widgets", ms(quantile(answers, 0.5)), ms(quantile(answers, 0.95)), ""],
  ]
  console.log(table(["What", "Median ms", "p95 ms", "Compared"], rows))
}
