/** A night goes on after a command that somebody ran by hand; the settings may say how long it waits for one. */
export const usualWaitMinutes = 10
