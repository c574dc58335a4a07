import { expect, test } from "bun:test"
import { existsSync } from "node:fs"

// The folders of a running instance are ignored; a rule that also catches a folder of the sources leaves a clone that does not start.
test.skipIf(!existsSync(".git"))("git ignores nothing of the sources", () => {
  const folders = ["src", "config", "plugins", "scripts", "test"]
  const { stdout } = Bun.spawnSync(["git", "ls-files", "--others", "--ignored", "--exclude-standard", ...folders])
  expect(stdout.toString()).toBe("")
})
