import { expect, test } from "bun:test"
import { existsSync } from "node:fs"

// Git ignores the folders of a running instance. A rule that also matches a source folder would make a clone incomplete.
test.skipIf(!existsSync(".git"))("git ignores no source file", () => {
  const folders = ["src", "config", "plugins", "scripts", "test"]
  const { stdout } = Bun.spawnSync(["git", "ls-files", "--others", "--ignored", "--exclude-standard", ...folders])
  expect(stdout.toString()).toBe("")
})
