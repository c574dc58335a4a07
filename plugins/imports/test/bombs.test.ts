import { expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bySize, footfall, serving, temporaryFolder } from "#plugin/test"
import { PATH, startImports } from "./kit.ts"
import { BOMBS } from "./reading/bombs.ts"
import { filesOf } from "./stores.ts"

const MIB = 1024 ** 2

const ALL = [...BOMBS]
test.each(bySize({ check: ALL.filter((_, at) => at % 3 === 0), full: ALL, release: ALL }))(
  "$bomb is answered with 413, in a preview and a run, and leaves nothing on disk",
  async ({ file }) => {
    await using stage = await startImports()
    const { instance, headers } = stage
    const { name, content } = file()
    const files = [{ name, content_base64: Buffer.from(content).toString("base64") }]
    const tooLarge = { status: 413, body: { code: "archive_too_large", detail: expect.stringMatching(/./) } }
    expect(await stage.post("/preview", { files })).toMatchObject(tooLarge)
    expect(await stage.post("", { source: "simple_analytics", files })).toMatchObject(tooLarge)
    const form = new FormData()
    form.append("file", new File([content as Uint8Array<ArrayBuffer>], name))
    const request = new Request(`http://localhost${PATH}/preview`, { method: "POST", body: form, headers })
    expect(await (await instance.fetch(request)).json()).toMatchObject({ status: 413, code: "archive_too_large" })
    expect(filesOf(instance.dataDir).filter((path) => path.startsWith("staging"))).toEqual([])
    expect(await stage.get("")).toMatchObject({ body: { data: [] } })
  },
)

test.skipIf(process.platform !== "linux")(
  "a server that previews a bomb needs at most 64 MiB more memory than for a preview of one line",
  async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, "data")
    await using server = await serving(dataDir)
    await footfall(["site", "create", "--name", "Shop", "--hosts", "shop.example", "--data-dir", dataDir])
    const preview = (path: string) => footfall(["import", "preview", "--site", "1", path, "--data-dir", dataDir])
    const line = join(folder.path, "line.csv")
    writeFileSync(line, "added_iso,path,session_id\n2026-10-01T10:00:00Z,/,a\n")
    // Frees what the start needed, so that the peaks of both previews can be compared.
    for (let times = 0; times < 3; times++) expect(await preview(line)).toMatchObject({ code: 0 })
    const before = await peakOf(server.pid, () => preview(line))
    const bomb = join(folder.path, "bomb.gz")
    writeFileSync(bomb, BOMBS.find((one) => one.bomb.startsWith("a gzip of 300 MiB"))!.file().content)
    const during = await peakOf(server.pid, async () => expect((await preview(bomb)).err).toContain("unpacks to more than"))
    expect(during - before).toBeLessThan(64 * MIB)
  },
  60_000,
)

/** Returns the largest resident memory of a process while some work is done. */
async function peakOf(pid: number, work: () => Promise<unknown>): Promise<number> {
  writeFileSync(`/proc/${pid}/clear_refs`, "5")
  await work()
  return Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024
}
