/* SPDX-License-Identifier: Apache-2.0
 *
 * swapper A B: exchanges two names as fast as asked (microseconds between two
 * exchanges, third argument) until it is killed. The attacker of the launch race.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <signal.h>
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) <
			0) {
			perror("swapper");
			return 1;
		}
		usleep((useconds_t)strtoul(argv[3], NULL, 10));
	}
}
