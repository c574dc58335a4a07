import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { releaseWhenCalm, unchangedMappings } from "../../../src/services/runtime/start-memory.ts"
import { temporaryFolder } from "../../kit.ts"

const mapping = (header: string, anonymous: number) => `${header}
Size:               2048 kB
Rss:                1024 kB
Anonymous:      ${String(anonymous).padStart(8)} kB
VmFlags: rd ex mr mw me
`

test("chooses the parts of files that the process can only read and has not changed", () => {
  const smaps = [
    mapping("00200000-01a39000 r--p 00000000 fe:00 77                                 /usr/bin/footfall", 0),
    mapping("01a40000-0684a000 r-xp 01839000 fe:00 77                                 /usr/bin/footfall", 0),
    mapping("0684a000-06867000 rw-p 06642000 fe:00 77                                 /usr/bin/footfall", 0),
    mapping("7f3fd9a00000-7f3fda2d2000 r-xp 00000000 fe:00 78                         /tmp/footfall-L0/libsql.node (deleted)", 0),
    mapping("7f3fda4d2000-7f3fda539000 r--p 008d2000 fe:00 78                         /tmp/footfall-L0/libsql.node (deleted)", 412),
    mapping("7f3fda600000-7f3fda700000 r--p 00000000 00:00 0", 0),
    mapping("7ffd6a5d0000-7ffd6a5d2000 r-xp 00000000 00:00 0                          [vdso]", 0),
  ]
  expect(unchangedMappings(smaps.join(""))).toEqual([
    { from: 0x200000, to: 0x1a39000 },
    { from: 0x1a40000, to: 0x684a000 },
    { from: 0x7f3fd9a00000, to: 0x7f3fda2d2000 },
  ])
})

test.skipIf(process.platform !== "linux")("a process runs on with fewer pages of its program", () => {
  const module = join(import.meta.dir, "../../../src/services/runtime/start-memory.ts")
  const code = `
    import { readFileSync } from "node:fs"
    import { releaseStartMemory } from ${JSON.stringify(module)}
    const pages = () => Number(/^RssFile:\\s*(\\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1])
    const before = pages()
    await releaseStartMemory()
    console.log(JSON.stringify({ before, after: pages() }))`
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, "-e", code])
  expect(exitCode).toBe(0)
  const { before, after } = JSON.parse(stdout.toString())
  expect(after).toBeLessThan(before)
})

test.skipIf(process.platform !== "linux")(
  "a compiled program gives back the pages of its modules, and reads the same texts again",
  async () => {
    using folder = temporaryFolder()
    const text = Array.from({ length: 400_000 }, (_, line) => `${line} some text`).join("\n")
    const module = join(import.meta.dir, "../../../src/services/runtime/start-memory.ts")
    writeFileSync(join(folder.path, "long.txt"), text)
    writeFileSync(
      join(folder.path, "program.ts"),
      `import { readFileSync } from "node:fs"
    import { embeddedModules, releaseStartMemory } from ${JSON.stringify(module)}
    import path from "./long.txt" with { type: "file" }
    const { from } = await embeddedModules(process.execPath)
    const pages = () => {
      const mapping = readFileSync("/proc/self/smaps", "utf8").split(/^(?=[0-9a-f]+-)/m).find((text) => {
        const [start, end] = /^([0-9a-f]+)-([0-9a-f]+)/.exec(text).slice(1).map((hex) => Number.parseInt(hex, 16))
        return start <= from && from < end
      })
      return { kb: Number(/^Rss: +(\\d+)/m.exec(mapping)[1]), flags: mapping.split(" ")[1] }
    }
    const hash = () => Bun.hash(readFileSync(path)).toString()
    const first = hash()
    const before = pages()
    await releaseStartMemory()
    const after = pages()
    console.log(JSON.stringify({ first, again: hash(), before, after }))`,
    )
    const built = await Bun.build({ entrypoints: [join(folder.path, "program.ts")], compile: { outfile: join(folder.path, "program") } })
    expect(built.success).toBe(true)
    const { stdout } = Bun.spawnSync([join(folder.path, "program")])
    const { first, again, before, after } = JSON.parse(stdout.toString())
    expect(first).toBe(Bun.hash(text).toString())
    expect(again).toBe(first)
    expect(before.kb - after.kb).toBeGreaterThan(text.length / 2 / 1_024)
    expect(after.flags).toBe(before.flags)
  },
)

test("waits for a turn with few requests", async () => {
  const counts = [0, 500, 500, 900, 900, 911, 911, 921]
  const releases: number[] = []
  await releaseWhenCalm({
    ...{ turnMs: 0, laterTurnMs: 0, requests: () => counts.shift() ?? 921, mapped: () => undefined },
    release: async () => void releases.push(counts.length),
  })
  expect(releases).toEqual([0])
})

test("gives pages back after a calm minute in which they have grown", async () => {
  /** Requests during each turn, and the megabytes that are mapped at its end. The first turn is that of the start. */
  const turns: [requests: number, mapped?: number][] = [
    [0],
    ...([
      [0, 40],
      [0, 50],
      [0, 50],
      [0, 52],
      [0, 44],
    ] as [number, number][]),
    ...([
      [11, 49],
      [0, 49],
      [0, 49],
      [0, 49],
      [0, 49],
      [0, 47],
    ] as [number, number][]),
    [0],
  ]
  let looks = 0
  let requests = 0
  const releases: number[] = []
  await releaseWhenCalm({
    ...{ turnMs: 0, laterTurnMs: 0, release: async () => {} },
    // Asked at the begin and at the end of each turn.
    requests() {
      if (looks % 2 === 1) requests += turns[(looks - 1) / 2]![0]
      looks++
      return requests
    },
    mapped() {
      const [, megabytes] = turns[looks / 2 - 1]!
      return megabytes === undefined ? undefined : megabytes * 2 ** 20
    },
    releaseAgain: async () => void releases.push(looks / 2 - 1),
  })
  expect(releases).toEqual([4, 10])
})
