/** A mail to one address, as plain text. */
export interface Letter {
  to: string
  subject: string
  text: string
}

/** What services ask of mail. */
export interface Mail {
  /** Whether an SMTP server is set; without one links are shown instead. */
  isOn(): boolean
  /** Hands a mail over; rejects when nobody takes it. */
  send(letter: Letter): Promise<void>
}
