/* SPDX-License-Identifier: Apache-2.0
 *
 * A pipe and a bounded buffer.
 */
#include "runtime/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "runtime/spawn.h"

int capture_open(struct capture *capture, size_t limit)
{
	int ends[2];
	int error = spawn_pipe(ends);

	if (error)
		return error;
	*capture = (struct capture){ends[0], ends[1], limit, BUF_INIT, false};
	buf_puts(&capture->kept, "");
	return fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static void keep(struct capture *capture, const char *bytes, size_t len)
{
	size_t room = capture->limit - capture->kept.len;

	buf_put(&capture->kept, bytes, len < room ? len : room);
	capture->truncated |= len > room;
}

/* One read: more than 0, or 0 at the end, or -errno. */
static ssize_t read_block(struct capture *capture)
{
	char block[65536];
	ssize_t n;

	do
		n = read(capture->read, block, sizeof(block));
	while (n < 0 && errno == EINTR);
	if (n > 0)
		keep(capture, block, (size_t)n);
	return n < 0 ? -errno : n;
}

bool capture_read(struct capture *capture)
{
	ssize_t n = read_block(capture);

	return n > 0 || n == -EAGAIN;
}

void capture_finish(struct capture *capture)
{
	/* Nobody writes any more, and a pipe holds a bounded amount. */
	while (read_block(capture) > 0)
		;
	if (capture->truncated)
		buf_printf(&capture->kept, "\n[cordon: output cut at %zu bytes]\n",
			capture->limit);
}

void capture_release(struct capture *capture)
{
	if (capture->read >= 0)
		close(capture->read);
	if (capture->write >= 0)
		close(capture->write);
	capture->read = capture->write = -1;
	buf_release(&capture->kept);
}
