import type { Letter } from "../mail-port.ts"

const letter = (to: string, subject: string, ...blocks: readonly string[]): Letter => ({ to, subject, text: blocks.join("\n\n") })

/** To whom an instance admin has made a user. */
export const welcomeLetter = (to: string, link: string): Letter =>
  letter(to, "Your account for web statistics", `An account was made for you. Open this link within 7 days to choose a password:\n${link}`)

export const factorsResetLetter = (to: string): Letter =>
  letter(
    to,
    "Your second factors were removed",
    "An administrator has removed the second factors of your account: the app, all passkeys and all recovery codes. You are signed out everywhere.",
    "If you did not ask for it, tell whoever runs this instance.",
  )

/** To a user in whose name an instance admin looks at things. */
export const impersonatedLetter = (
  to: string,
  { by, mode, reason, until }: { by: string; mode: "read_only" | "full"; reason: string; until: string },
): Letter =>
  letter(
    to,
    "Somebody acts in your name",
    `${by}, who runs this instance, sees it as you do until ${until}, ${mode === "full" ? "and may change things" : "without changing anything"}.`,
    `Reason: ${reason}`,
  )
