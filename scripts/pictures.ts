/**
 * `bun scripts/pictures.ts` takes the screenshots of the README in a real browser, from an instance with ninety days of generated traffic,
 * and writes them to docs/. They contain nothing about the machine they are taken on.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium, type Page } from "playwright-core"

const root = join(import.meta.dir, "..")
const folder = join(root, "docs")
const EMAIL = "ada@shop.example"
const PASSWORD = crypto.randomUUID()

const PICTURES = [
  { name: "dashboard-light", path: "/sites/1?period=28d", theme: "light", width: 1280, height: 1000 },
  { name: "dashboard-dark", path: "/sites/1?period=28d", theme: "dark", width: 1280, height: 1000 },
  { name: "dashboard-phone", path: "/sites/1?period=28d", theme: "light", width: 375, height: 812 },
  { name: "journeys", path: "/sites/1/journeys?period=28d", theme: "light", width: 1280, height: 900 },
  { name: "console", path: "/admin", theme: "light", width: 1280, height: 900 },
] as const

const dataDir = mkdtempSync(join(tmpdir(), "footfall-pictures-"))
const main = [process.execPath, join(root, "src/main.ts")]
const user = ["--email", EMAIL, "--name", "Ada Lovelace", "--organization", "Shop", "--password-stdin"]
await run([...main, "setup", ...user, "--data-dir", dataDir], PASSWORD)
const shape = ["--days", "90", "--events", "150000", "--sites", "3", "--seed", "7"]
await run([process.execPath, join(root, "scripts/seed.ts"), ...shape, "--data-dir", dataDir])
// Without a backup, the console would tell how to create one, with the path of the data folder.
await run([...main, "backup", "create", "--data-dir", dataDir])
const server = Bun.spawn([...main, "serve", "--data-dir", dataDir, "--host", "127.0.0.1", "--port", "0"], { stdout: "pipe" })
try {
  const origin = await addressOf(server.stdout)
  mkdirSync(folder, { recursive: true })
  await takeAll(origin)
} finally {
  server.kill()
  await server.exited
  rmSync(dataDir, { recursive: true, force: true })
}

async function takeAll(origin: string): Promise<void> {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu"] })
  for (const { name, path, theme, width, height } of PICTURES) {
    const viewport = { width, height }
    const context = await browser.newContext({ viewport, colorScheme: theme, locale: "en-GB", deviceScaleFactor: 1, hasTouch: width < 768 })
    const page = await context.newPage()
    await signIn(page, origin)
    await page.goto(origin + path)
    await page.waitForLoadState("networkidle")
    await page.waitForFunction(() => !document.querySelector(".skeleton, [aria-busy=true]"))
    await page.screenshot({ path: join(folder, `${name}.png`) })
    await context.close()
  }
  await browser.close()
}

async function signIn(page: Page, origin: string): Promise<void> {
  const answer = await page.request.post(`${origin}/api/private/auth/login`, { data: { email: EMAIL, password: PASSWORD } })
  if (!answer.ok()) throw new Error(`Signing in failed with ${answer.status()}`)
}

/** Reads the address from the line in which the server prints it. */
async function addressOf(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = ""
  for await (const part of output) {
    text += new TextDecoder().decode(part)
    const address = /listens at (http:\S+)/.exec(text)?.[1]
    if (address) return address
  }
  throw new Error("The server ended before it listened")
}

async function run(words: readonly string[], input = ""): Promise<void> {
  const child = Bun.spawn([...words], { cwd: root, stdin: new Blob([input]), stdout: "inherit", stderr: "inherit" })
  if ((await child.exited) !== 0) throw new Error(`${words.join(" ")} failed`)
}
