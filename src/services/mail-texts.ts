import type { Letter } from "./mail-port.ts"

const UNEXPECTED = "If this was not you, somebody knows your password: choose another one now, and tell whoever runs this instance."

const letter = (to: string, subject: string, ...blocks: readonly string[]): Letter => ({ to, subject, text: blocks.join("\n\n") })

export const resetLetter = (to: string, link: string): Letter =>
  letter(
    to,
    "Choose a new password",
    `Somebody, probably you, has forgotten the password of this account. Open this link within an hour to choose another one:\n${link}`,
    "If it was not you, leave this mail: nothing changes.",
  )

export const confirmEmailLetter = (to: string, link: string): Letter =>
  letter(
    to,
    "Confirm your e-mail address",
    `Open this link within a day, where you are signed in, to use this address for your account:\n${link}`,
    "If you did not ask for it, leave this mail: nothing changes.",
  )

export const addressTakenLetter = (to: string): Letter =>
  letter(
    to,
    "This address has an account already",
    "Somebody, probably you, wanted to use this address for another account. It belongs to an account already, so nothing was changed.",
    "If you have forgotten its password, ask for a new one where you sign in.",
  )

export const emailWarningLetter = (to: string, wanted: string, link: string): Letter =>
  letter(
    to,
    "Your e-mail address is about to change",
    `Somebody, probably you, wants ${wanted} to be the address of your account. It changes when that address is confirmed.`,
    `If it was not you, open this link within 72 hours: the address stays or comes back, and everybody is signed out.\n${link}`,
  )

export const passwordChangedLetter = (to: string): Letter =>
  letter(to, "Your password was changed", "The password of your account was changed. All other sessions have ended.", UNEXPECTED)

export const recoveryCodeUsedLetter = (to: string, left: number): Letter =>
  letter(
    to,
    "A recovery code was used",
    `Somebody, probably you, has signed in with a recovery code. ${left === 1 ? "One is" : `${left} are`} left.`,
    UNEXPECTED,
  )
